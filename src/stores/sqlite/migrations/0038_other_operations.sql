-- The statement of one kind of movement, such as grants, is a few lines among many charges. These write nothing here.
CREATE INDEX operations_beside_charges ON operations (account_id, number) WHERE kind <> 'charge';
