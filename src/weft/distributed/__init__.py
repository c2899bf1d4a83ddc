"""Large runs: chunks of a corpus go to several processes, shards survive a kill, Ray spreads files over machines."""
