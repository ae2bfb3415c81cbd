"""Tools around programs: profiles, downloads, logs of training, files, trees."""
