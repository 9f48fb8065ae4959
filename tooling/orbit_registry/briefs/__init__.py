"""What is handed to an agent or a planner before work."""
