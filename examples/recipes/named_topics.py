#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Named topics of a column of texts: ``python named_topics.py reviews.csv text 30 [GROUP]``.

Writes a table, a picture, the share of each topic in each text, and its mean share in each group.
"""

import sys

import pandas as pd

import pymc_geodesic as pmg


def main(path: str, column: str, n_topics: str, group: str | None = None) -> pd.DataFrame:
    """Go from the file to the table of topics."""
    table = pd.read_csv(path)
    corpus = pmg.BagOfWords.from_texts(table[column])
    idata = pmg.topics.sample(corpus, n_topics=int(n_topics), rng=1)
    found = pmg.topics.describe(idata, documents=corpus, texts=table[column], rng=1)
    found.table.to_csv("topics.csv")
    axes = pmg.plot_topics(idata, sizes=found.sizes, labels=found.labels)
    axes[0].figure.savefig("topics.png")
    kept = table.iloc[corpus.rows]
    pd.DataFrame(found.shares, columns=found.labels, index=kept.index).to_csv("shares.csv")
    if group is not None:
        by_group = pmg.topics.prevalence(idata, documents=corpus, covariates=kept[group], rng=1)
        by_group.to_csv("groups.csv")
    return found.table


if __name__ == "__main__":
    print(main(*sys.argv[1:]))
