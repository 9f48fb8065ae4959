"""What records weigh: a page of the site, a table of the snapshot and a command."""

import click


def is_wanted(records):
    return bool(records)


def html(data, url):
    rows = "".join(f"<li>{record.id}: {len(record.title)} g</li>" for record in data.records)
    return f"<ul>{rows}</ul>"


def markdown(data, links):
    return "\n".join(f"- {record.id}: {len(record.title)} g" for record in data.records)


def rows(records):
    for record in records:
        yield {"record_id": record.id, "grams": len(record.title)}


@click.command("scales")
def command():
    """Show the scales."""
    click.echo("from 0 to 100 g")
