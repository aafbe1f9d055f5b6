"""
A team's store: experiences of two colleagues in one store, and a function learned from both
============================================================================================

Both write to one store, here in memory; in a team it is an SQLite file or a PostgreSQL URL. Each run is an
algorithm on a pair of domains, and its experiences are the improvement ratios at several numbers of labels.
"""

import matplotlib.pyplot as plt
import pandas as pd

import l2t

digits, mnist = l2t.normalize(l2t.domains.digits()), l2t.normalize(l2t.domains.mnist())
colleagues = {"Ann": l2t.PairSampler(digits, mnist, 3), "Ben": l2t.PairSampler(mnist, digits, 3)}
with l2t.open_store("memory://") as store:  # a team writes to a file or a URL
    for name, pairs in colleagues.items():
        done = l2t.collect(
            pairs, store, algorithms=["tca", "gfk", "lsdt", "spectrum"], label_counts=(3, 15, 60)
        ).done
        print(f"{name}: {done} runs")
    experiences = list(store.experiences())
reflection = l2t.learn(experiences)
print(reflection)

rows = [(run.algorithm, run.n_labels, run.improvement_ratio) for run in experiences]
table = pd.DataFrame(rows, columns=["algorithm", "labels", "ratio"]).pivot_table(
    index="algorithm", columns="labels", values="ratio"
)
figure, axes = plt.subplots(figsize=(6, 3.8), layout="constrained")
table.T.plot(ax=axes, marker="o")
axes.axhline(1, color="k", linewidth=0.8)
axes.set(
    xlabel="target labels", ylabel="improvement ratio, mean of six pairs", xticks=table.columns
)
plt.show()
