"""What each agent sends its hooks and what it understands as a reply: one file an agent, built-in modules only."""
