"""
Tables: a DataFrame with columns of different scales
====================================================

Each row describes a printed letter by 16 measurements. The source has 20 letters, the target the other six
with five labels each. `prepare` proposes how to scale the columns.
"""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.metrics import ConfusionMatrixDisplay

import l2t

with np.load(Path(os.environ["L2T_DATA"]) / "letters" / "letters.npz") as file:
    letters = pd.DataFrame(file["X"], columns=[f"measure {i}" for i in range(file["X"].shape[1])])
    letters["letter"] = file["classes"][file["y"]]
novel = letters["letter"].isin(list("BDHKPR"))
source = letters[~novel].sample(3000, random_state=0)
target = letters[novel].sample(600, random_state=0)
truth = target["letter"].to_numpy()
few = (target.groupby("letter").cumcount() < 5).to_numpy()

known, unknown = (
    l2t.Domain(frame.drop(columns="letter"), frame["letter"].to_numpy(), labeled=labeled)
    for frame, labeled in ((source, None), (target, few))
)
prepared = l2t.prepare(known, unknown)
print(prepared.reason)
answer = l2t.predict(prepared.source, prepared.target)
columns = ["features", "classifier", "measured", "expected", "used"]
print(answer.report.to_frame()[columns].round(3).to_string(index=False))

ConfusionMatrixDisplay.from_predictions(
    truth[~few], answer.labels[~few], normalize="true", values_format=".0%"
)
plt.title(f"{np.mean(answer.labels[~few] == truth[~few]):.1%} of the unlabelled letters are right")
plt.savefig("tables.png", bbox_inches="tight")

# %%
# With the data, the script prints:
#
# .. literalinclude:: /images/gallery/tables.txt
#    :language: text
#
# .. image:: /images/gallery/tables.png
#    :alt: The plot of the script
#
# sphinx_gallery_thumbnail_path = "images/gallery/tables.png"
