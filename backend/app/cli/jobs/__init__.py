"""`labcrew jobs`: prompts as machines send them."""
