# SPDX-License-Identifier: Apache-2.0
"""What mkdocs does besides: the index of the search as a script, for a site that is opened from a disk (search.js)."""
from pathlib import Path


def on_post_build(config):
    folder = Path(config["site_dir"], "search")
    (folder / "search_index.js").write_text(f"search_index = {(folder / 'search_index.json').read_text()};\n")
