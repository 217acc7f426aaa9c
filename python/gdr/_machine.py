"""One chip."""


class Machine:
    """Placeholder."""
