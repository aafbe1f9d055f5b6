"""Add the column `trained_on` to scores; the table is that of `schema`, until its next change."""

from alembic import op

from l2t.experiences.store.schema import scores

revision = "0002"
down_revision: str | None = "0001"


def upgrade() -> None:
    """Copy the scores, which were all trained on the target."""
    op.rename_table("l2t_scores", "l2t_old")
    scores.create(op.get_bind())
    names = ", ".join(column.name for column in scores.c if column.name != "trained_on")
    op.execute(
        f"INSERT INTO l2t_scores ({names}, trained_on) SELECT {names}, 'target' FROM l2t_old"
    )
    op.drop_table("l2t_old")
