"""How long a property may take: as long as it needs, because a busy machine is no bug."""

from hypothesis import settings

settings.register_profile("orbit", deadline=None)
settings.load_profile("orbit")
