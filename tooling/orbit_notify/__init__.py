"""What happens, sent to where a team looks: OpenTelemetry and notifications."""

from orbit_registry.seams import Extra

extra = Extra(
    "notify", operations=("orbit_notify.operations",), notifier="orbit_notify.notify:notify"
)
