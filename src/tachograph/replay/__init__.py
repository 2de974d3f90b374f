"""Layer 4: a session as a tape, and what it means to match it. Deciding is pure; ``guard/`` holds the agent."""
