"""9xx: whether the loop was kept to, by the events that the context holds; without events these checks find nothing."""
