-- Lists of accounts name the contacts of each. The index of addresses begins with an expression that only SQLite has.
CREATE INDEX mail_recipients_by_account ON mail_recipients (account_id) WHERE account_id IS NOT NULL;
