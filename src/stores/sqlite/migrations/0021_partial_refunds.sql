-- A charge can be refunded in parts. The sum of its refunds never exceeds its cost.
DROP INDEX corrections_by_charge;
CREATE INDEX corrections_by_charge ON corrections (charge_id) WHERE charge_id IS NOT NULL;

CREATE TRIGGER corrections_never_exceed_their_charge BEFORE INSERT ON corrections WHEN NEW.charge_id IS NOT NULL
  AND NEW.amount + (SELECT ifnull(sum(amount), 0) FROM corrections WHERE charge_id = NEW.charge_id)
    > (SELECT cost FROM charges WHERE id = NEW.charge_id)
  BEGIN SELECT RAISE(ABORT, 'refunds never exceed their charge'); END;

-- Lists refunds by the time at which they were made: of all accounts, and of one.
CREATE INDEX refunds_by_time ON operations (at_ms) WHERE kind = 'refund';
CREATE INDEX refunds_by_account ON operations (account_id, at_ms) WHERE kind = 'refund';
