"""Public measurements in this project's tidy form: one row per measured (chipset, model, arm)."""
