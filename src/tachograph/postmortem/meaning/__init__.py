"""What was said and done in a session, understood: instructions, actions, effects, results, claims. What the analyses (``analyses/``) share."""
