"""`accelerate launch -m weft.training …` is `weft train …` on several devices or machines."""

import sys

from weft.cli.main import main

if __name__ == "__main__":
    sys.argv[1:1] = ["train"]
    main()
