-- Why: how many notifications lie unanswered when another one comes depends on when each was answered.
LOCK TABLE projection.progress IN EXCLUSIVE MODE;

-- The earliest opening, dismissal or tap; NULL where there is none, and for silent deliveries.
ALTER TABLE projection.delivery ADD COLUMN answered_at timestamptz;

SELECT projection.raise_version('deliveries', 2);
