"""Work beside the request path: rollups, recommendations, findings. Only here and in the CLI is the learner imported."""
