"""Facts of classes as columns of a narrow table, and tallies of the fleet by fact."""

import sqlalchemy as sa
from alembic import op

revision = "0008_class_facts"
down_revision = "0007_set_aside"
branch_labels = None
depends_on = None

WORDS = "lower(manufacturer || ' '::text || model || ' '::text || COALESCE(soc, ''::text))"
# As `service.store.class_facts` fills and counts them.
FILL = """
    INSERT INTO class_facts
    SELECT c.device_class, c.first_seen, f.manufacturer, f.model, f.soc, f.soc_vendor, f.api_level, f.nnapi_level, f.population,
           ARRAY(SELECT name FROM (
               SELECT a->>'name' AS name, 1 AS part, place FROM jsonb_array_elements(f.accelerators) WITH ORDINALITY x (a, place)
               WHERE a->>'kind' <> 'cpu'
               UNION ALL
               SELECT r->>'name', 2, place FROM jsonb_array_elements(f.runtimes) WITH ORDINALITY x (r, place)
               WHERE r->>'presence' = 'yes') AS named
               GROUP BY name ORDER BY min(part), min(place)),
           ARRAY(SELECT a->>'code' FROM jsonb_array_elements(f.anomalies) WITH ORDINALITY x (a, place)
               GROUP BY 1 ORDER BY min(place)),
           (SELECT count(*) FROM report r WHERE r.device_class = c.device_class)
    FROM device_class c, jsonb_to_record(c.fingerprint) AS f (
        manufacturer text, model text, soc text, soc_vendor text, api_level int, nnapi_level int, population text,
        accelerators jsonb, runtimes jsonb, anomalies jsonb)
"""
COUNT = """
    INSERT INTO fleet_tally (fact, value, device_classes, reports)
    SELECT fact, value, count(*), sum(reports)
    FROM class_facts, LATERAL (
        VALUES ('soc', coalesce(soc, '(unknown)')), ('soc_vendor', coalesce(soc_vendor, '(unknown)')),
               ('api_level', api_level::text), ('population', population)
        UNION ALL SELECT 'accelerators', unnest(CASE accelerators WHEN '{}' THEN ARRAY['(none)'] ELSE accelerators END)
        UNION ALL SELECT 'anomalies', unnest(CASE anomalies WHEN '{}' THEN ARRAY['(none)'] ELSE anomalies END)
    ) AS held (fact, value)
    GROUP BY 1, 2
"""


def upgrade() -> None:
    op.create_table(
        "class_facts",
        sa.Column("device_class", sa.Text(), nullable=False),
        sa.Column("first_seen", sa.DateTime(timezone=True), nullable=False),
        sa.Column("manufacturer", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("soc", sa.Text(), nullable=True),
        sa.Column("soc_vendor", sa.Text(), nullable=True),
        sa.Column("api_level", sa.Integer(), nullable=False),
        sa.Column("nnapi_level", sa.Integer(), nullable=True),
        sa.Column("population", sa.Text(), nullable=False),
        sa.Column("accelerators", sa.ARRAY(sa.Text()), nullable=False),
        sa.Column("anomalies", sa.ARRAY(sa.Text()), nullable=False),
        sa.Column("reports", sa.BigInteger(), nullable=False),
        sa.Column("words", sa.Text(), sa.Computed(WORDS, persisted=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["device_class"], ["device_class.device_class"], name=op.f("fk_class_facts_device_class_device_class")
        ),
        sa.PrimaryKeyConstraint("device_class", name=op.f("pk_class_facts")),
    )
    op.create_table(
        "fleet_tally",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("fact", sa.String(), nullable=False),
        sa.Column("value", sa.String(), nullable=False),
        sa.Column("device_classes", sa.BigInteger(), nullable=False),
        sa.Column("reports", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_fleet_tally")),
    )
    op.execute(FILL)
    op.execute(COUNT)


def downgrade() -> None:
    op.drop_table("fleet_tally")
    op.drop_table("class_facts")
