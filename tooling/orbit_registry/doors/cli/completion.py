"""`orbit completion`: what a shell completes."""

import click

from orbit_registry.doors.cli.writer import give


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script of a shell.

    eval "$(orbit completion bash)"                                # in ~/.bashrc; zsh: in ~/.zshrc
    orbit completion fish > ~/.config/fish/completions/orbit.fish
    """
    from click.shell_completion import get_completion_class

    script = get_completion_class(shell)
    name = str(context.find_root().info_name)
    if script is not None:
        variable = f"_{name.upper().replace('-', '_')}_COMPLETE"
        give(script(context.find_root().command, {}, name, variable).source(), nl=False)
