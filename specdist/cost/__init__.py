"""Cost models: expected tokens a step, and what they are worth under stated costs. All exact."""
