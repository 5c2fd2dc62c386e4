"""Observations by day: the table is partitioned, with all rows it has; tallies, rollups and runs of jobs beside it."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002_partitions"
down_revision = "0001_first"
branch_labels = None
depends_on = None

# As `service.store.partitions.day_of` has it.
DAY = """
    CASE WHEN uuid_extract_version(record_id) = 7
          AND uuid_extract_timestamp(record_id) >= '2020-01-01+00' AND uuid_extract_timestamp(record_id) < '2100-01-01+00'
         THEN (uuid_extract_timestamp(record_id) AT TIME ZONE 'UTC')::date
         ELSE DATE '1970-01-01' END
"""


def upgrade() -> None:
    op.drop_index("ix_observation_received_at", table_name="observation")
    op.drop_index("ix_observation_learn", table_name="observation")
    op.drop_index("ix_observation_attempt_id", table_name="observation")
    op.execute("ALTER TABLE observation RENAME CONSTRAINT pk_observation TO pk_observation_flat")
    op.execute("ALTER TABLE observation RENAME TO observation_flat")
    op.execute("CREATE TABLE observation (LIKE observation_flat, day date NOT NULL) PARTITION BY RANGE (day)")
    op.execute("ALTER TABLE observation ADD CONSTRAINT pk_observation PRIMARY KEY (record_id, day)")
    op.create_index("ix_observation_received_at", "observation", ["received_at"], unique=False, postgresql_using="brin")
    op.execute("CREATE TABLE observation_default PARTITION OF observation DEFAULT")
    op.execute(f"""
        DO $$ DECLARE found date; BEGIN
            FOR found IN SELECT DISTINCT {DAY} FROM observation_flat
                         UNION SELECT generate_series(current_date, current_date + 7, '1 day')::date
            LOOP
                CONTINUE WHEN found = DATE '1970-01-01';
                EXECUTE format('CREATE TABLE %I PARTITION OF observation FOR VALUES FROM (%L) TO (%L)',
                               'observation_' || to_char(found, 'YYYYMMDD'), found, found + 1);
            END LOOP;
        END $$
    """)  # noqa: S608 -- constants of this file
    op.execute(f"INSERT INTO observation SELECT observation_flat.*, {DAY} FROM observation_flat")  # noqa: S608
    op.create_table(
        "telemetry_tally",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("verdict", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("records", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_telemetry_tally")),
    )
    op.execute("""
        INSERT INTO telemetry_tally (day, verdict, reason, records)
        SELECT (received_at AT TIME ZONE 'UTC')::date,
               CASE WHEN set_aside IS NULL THEN 'accepted' ELSE 'set-aside' END, coalesce(set_aside, ''), count(*)
        FROM observation_flat GROUP BY 1, 2, 3
    """)
    op.drop_table("observation_flat")
    op.create_table(
        "rolled_day",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("rolled_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("observations", sa.BigInteger(), nullable=False),
        sa.Column("settled", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("day", name=op.f("pk_rolled_day")),
    )
    cell = ("device_class", "app", "model", "arm", "workload")
    counts = (
        "windows", "measured", "runs", "golden_checked", "golden_failed", "failed", "timed_out", "attempts", "crashed",
        "delegated_windows",
    )  # fmt: skip
    op.create_table(
        "observation_rollup",
        sa.Column("day", sa.Date(), nullable=False),
        *(sa.Column(name, sa.String(), nullable=False) for name in cell),
        sa.Column("hot", sa.Boolean(), nullable=False),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in counts),
        sa.Column("delegated_share_sum", sa.Float(), nullable=False),
        sa.Column("latency_buckets", sa.ARRAY(sa.Integer()), nullable=False),
        sa.Column("latency_counts", sa.ARRAY(sa.BigInteger()), nullable=False),
        sa.Column("p50_buckets", sa.ARRAY(sa.Integer()), nullable=False),
        sa.Column("p50_counts", sa.ARRAY(sa.BigInteger()), nullable=False),
        sa.PrimaryKeyConstraint("day", *cell, "hot", name=op.f("pk_observation_rollup")),
    )
    op.create_table(
        "cohort_median",
        *(sa.Column(name, sa.String(), nullable=False) for name in cell[:4]),
        sa.Column("windows", sa.BigInteger(), nullable=False),
        sa.Column("p50_us", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint(*cell[:4], name=op.f("pk_cohort_median")),
    )
    op.create_table(
        "job_run",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("job", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("progress", sa.Float(), nullable=False),
        sa.Column("figures", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("log", sa.ARRAY(sa.Text()), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job_run")),
    )
    op.create_index("ix_job_run_job_started_at", "job_run", ["job", "started_at"], unique=False)


def downgrade() -> None:
    op.drop_table("job_run")
    op.drop_table("cohort_median")
    op.drop_table("observation_rollup")
    op.drop_table("rolled_day")
    op.drop_table("telemetry_tally")
    op.execute("CREATE TABLE observation_flat (LIKE observation)")
    op.execute("INSERT INTO observation_flat SELECT * FROM observation")
    op.drop_table("observation")
    op.execute("ALTER TABLE observation_flat RENAME TO observation")
    op.drop_column("observation", "day")
    op.execute("ALTER TABLE observation ADD CONSTRAINT pk_observation PRIMARY KEY (record_id)")
    op.create_index("ix_observation_attempt_id", "observation", ["attempt_id"], unique=False)
    op.create_index("ix_observation_learn", "observation", ["device_class", "app", "model", "arm"], unique=False)
    op.create_index("ix_observation_received_at", "observation", ["received_at"], unique=False, postgresql_using="brin")
