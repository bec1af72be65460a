import type { NanoUsd } from '../../../domain/money.ts'
import type { Audit } from '../../../gateway/ports/access/audit.ts'
import type { BalanceAlerts } from '../events/balance-alerts.ts'
import type { JobAlerts } from '../events/job-alerts.ts'
import type { MailRecipients } from '../events/mail-recipients.ts'
import type { Step } from '../steps.ts'

// The collaborators of the steps of accounts, keys and projects. All of them run inside the step.

/** A line of the audit log, whose actor and time are those of the edit. */
export type AuditedChange = Omit<Audit, 'actor' | 'atMs'>

/** Has every node forget the keys that it keeps, because what they may do has changed. */
export type ForgetKeys = () => Step<void>

/** The number of running text requests of an account. Called after its books. */
export type CountRequests = (accountId: number) => Step<number>

/** The settings of the events of an account. Each change returns false if nothing changes. */
export interface AccountEvents {
  /** Sets the alert of a low balance, or removes it with null. A balance that is below a new alert is told at once. */
  changeAlert(accountId: number, below: NanoUsd | null, atMs: number): Step<boolean>

  /** Replaces the contacts. */
  replaceContacts(accountId: number, addresses: readonly string[]): Step<boolean>

  /** Switches the events of jobs. */
  switchJobEvents(accountId: number, isOn: boolean): Step<boolean>
}

export function accountEvents({
  balanceAlerts,
  mailRecipients,
  jobAlerts,
}: {
  readonly balanceAlerts: BalanceAlerts
  readonly mailRecipients: MailRecipients
  readonly jobAlerts: JobAlerts
}): AccountEvents {
  return {
    changeAlert: (accountId, below, atMs) => balanceAlerts.change(accountId, below, atMs),
    replaceContacts: (accountId, addresses) => mailRecipients.replace(accountId, addresses),
    switchJobEvents: (accountId, isOn) => jobAlerts.change(accountId, isOn),
  }
}
