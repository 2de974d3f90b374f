"""What sessions are tied to: commits, pull requests, deploys, incidents, builds."""
