"""A change compared with what is live, on every kind of phone, before anything is saved."""
