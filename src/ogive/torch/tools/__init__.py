"""What surrounds programs: profiles, downloads, logs of training, safe files, trees."""
