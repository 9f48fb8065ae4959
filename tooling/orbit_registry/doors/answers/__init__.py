"""The table of answers: each module declares operations, from which every door is made."""
