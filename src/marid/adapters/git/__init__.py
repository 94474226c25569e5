"""Ask git without trusting a repository; cached clones."""
