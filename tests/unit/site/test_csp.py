"""The policy of a page: the theme's scripts by hash, nothing else."""

from orbit_registry.site.sanitize import policy_of

HEAD = '<!doctype html><html><head><meta charset="utf-8">'


def theme(root: str) -> str:
    """Return a page as the theme makes it, with the way to the root that its depth needs."""
    return (
        f'{HEAD}<script>scope=new URL("{root}",location)</script><script '
        f'src="a.js"></script></head></html>'
    )


def test_the_themes_own_script_is_allowed_at_every_depth() -> None:
    page, refused = policy_of([theme("..")]).applied(theme("../.."))
    assert refused == []
    assert page.count("sha256-") == 1
    assert "unsafe-inline'; img" in page.replace(
        "style-src 'self' 'unsafe-inline'", "style-src 'self' unsafe-inline'"
    )
    assert "script-src 'self' 'unsafe-inline'" not in page


def test_a_script_that_the_empty_page_lacks_is_refused() -> None:
    html = theme("..").replace("</head>", "<script>stolen()</script></head>")
    page, refused = policy_of([theme("..")]).applied(html)
    assert refused == ["stolen()"]
    assert page.count("sha256-") == 1


def test_data_in_a_script_element_is_no_code() -> None:
    html = theme("..").replace(
        "</head>", '<script id="c" type="application/json">{}</script></head>'
    )
    assert policy_of([theme("..")]).applied(html)[1] == []


def test_the_policy_comes_before_everything_that_loads() -> None:
    page, _ = policy_of([theme("..")]).applied(theme(".."))
    assert page.index("Content-Security-Policy") < page.index("<script")
