"""MkDocs plugin: `mkdocs build` and `mkdocs serve` do what `orbit site build` does."""

import contextlib
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import pathspec
from mkdocs.config.base import Config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.livereload import LiveReloadServer
from mkdocs.plugins import BasePlugin, event_priority
from mkdocs.structure.files import Files
from mkdocs.utils import clean_directory

from orbit_registry.errors import OrbitError
from orbit_registry.model.diagnostic import Severity
from orbit_registry.registry import Registry
from orbit_registry.site.build import BUILD_WAIT_SECONDS, CACHE, LOCK, without_collector
from orbit_registry.site.build_steps import prepare, publish
from orbit_registry.site.config import SCRIPTS, STYLES, read_user_config
from orbit_registry.site.curated import SHELL
from orbit_registry.site.language import words_for_templates
from orbit_registry.site.output import MANIFEST, open_output, refuse_links
from orbit_registry.site.stage import BuildContext
from orbit_registry.site.stage_config import DOCS, OVERRIDES, with_ours
from orbit_registry.workspace.git import ignore_pattern
from orbit_registry.workspace.lock import locked

_log = logging.getLogger("mkdocs.plugins.orbit")


class Options(Config):
    """The plugin has no options: `.orbit/config.yaml` holds them."""


class OrbitPlugin(BasePlugin[Options]):
    """Stages before MkDocs reads its pages, expands after it wrote them, and holds the lock of
    builds in between.

    It is idle when our own build runs MkDocs.
    """

    def __init__(self) -> None:
        super().__init__()
        self._context: BuildContext | None = None
        self._target: Path | None = None
        self._user_docs: Path | None = None
        self._cache = Path()
        self._held = contextlib.ExitStack()
        self._builds = True

    def on_startup(self, *, command: str, dirty: bool) -> None:
        """Note whether this is for a build: `mike` only asks where the one that it starts will put
        the site.
        """
        self._builds = command != "mike"

    def on_config(self, config: MkDocsConfig) -> MkDocsConfig | None:
        """Stage the site, and point MkDocs at the staged tree;
        its output goes to our cache first.
        """
        if config.extra.get("orbit_staged") or not self._builds:
            return None

        self._held.close()
        file = Path(str(config.config_file_path)).absolute()
        self._target, self._user_docs = Path(config.site_dir), Path(config.docs_dir)

        try:
            registry = Registry.open(file.parent)
            user_config = read_user_config(registry.workspace.root, file, trusted=True)
            if user_config is not None:  # which may inherit what it does not say
                user_config = replace(
                    user_config,
                    data={**user_config.data, "use_directory_urls": config.use_directory_urls},
                )

            cache = registry.workspace.cache_folder / CACHE
            refuse_links(registry.workspace.root, cache / LOCK)
            self._held.enter_context(locked(cache / LOCK, wait=BUILD_WAIT_SECONDS))
            self._held.enter_context(without_collector())
            self._cache = cache / "plugin"
            context = prepare(
                registry, user_config, self._cache, config.site_url or None, self._target.resolve()
            )
        except OrbitError as error:
            raise PluginError(f"{error.message} ({error.hint})") from None

        staged = context.staged.folder
        config.docs_dir = str(staged / DOCS)
        config.site_dir = str(self._cache / "generated")
        config.theme.dirs.insert(0, str(staged / OVERRIDES))
        unlisted = map(ignore_pattern, context.staged.unlisted)
        hidden = pathspec.gitignore.GitIgnoreSpec.from_lines([f"/{SHELL}/", *unlisted])
        config.not_in_nav = hidden if config.not_in_nav is None else config.not_in_nav + hidden

        if user_config is None or not user_config.makes_nav:
            config.nav = context.staged.nav

        config.extra_css = with_ours(STYLES, config.extra_css)
        config.extra_javascript = with_ours(SCRIPTS, config.extra_javascript)
        config.update(context.sources.header)
        config.extra["orbit_release"] = context.sources.release
        config.extra["orbit_words"] = words_for_templates()

        self._context = context
        return config

    @event_priority(100)
    def on_files(self, files: Files, /, *, config: MkDocsConfig) -> Files:
        """Say where each page comes from: a file whose history and changes other plugins read,
        or this plugin.
        """
        if self._context is None or self._user_docs is None:
            return files

        for file in files.documentation_pages():
            source = self._user_docs / file.src_uri
            if source.is_file():
                file.content_string = file.content_string  # the staged text
                file.abs_src_path = str(source)
            else:
                file.generated_by = "orbit"

        return files

    def on_post_build(self, config: MkDocsConfig) -> None:
        """Expand MkDocs' pages into the folder it was asked to write to."""
        if self._context is None or self._target is None:
            return

        try:
            refuse_links(self._context.registry.workspace.root, self._target)

            if not (self._target / MANIFEST).is_file():
                # MkDocs empties its folder before each build; we took its place.
                clean_directory(str(self._target))

            console = bool(self._context.registry.workspace.config.site.get("console"))
            result = publish(
                self._context, Path(config.site_dir), open_output(self._target), snapshot=console
            )
        except OrbitError as error:
            raise PluginError(f"{error.message} ({error.hint})") from None

        for diagnostic in result.diagnostics:
            level = logging.INFO if diagnostic.severity is Severity.NOTE else logging.WARNING
            _log.log(level, "%s: %s (%s)", diagnostic.location, diagnostic.message, diagnostic.code)

        config.site_dir = str(
            self._target
        )  # which later plugins write into, and `mkdocs gh-deploy` publishes
        _log.info("Records: %d pages in %s", result.pages, self._target)
        self._held.close()

    def on_build_error(self, *, error: Exception) -> None:
        """Let others build, whatever plugin failed."""
        self._held.close()

    def on_serve(
        self, server: LiveReloadServer, /, *, config: MkDocsConfig, builder: Any
    ) -> LiveReloadServer:
        """Watch records, documents and pages, but not the staged tree that each build writes."""
        if self._context is None:
            return server

        server.unwatch(config.docs_dir)
        workspace = self._context.registry.workspace
        folders = [workspace.folder_of(kind) for kind in workspace.kinds]
        for folder in (*folders, *self._context.sources.folders, self._user_docs):
            if folder is not None and folder.is_dir():
                server.watch(str(folder))

        server.watch(str(workspace.orbit / "config.yaml"))
        return server
