"""What comes in from other tools and goes out to them."""
