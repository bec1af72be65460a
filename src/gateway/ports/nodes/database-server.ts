/** A PostgreSQL database, and how to connect to it. */
export type DatabaseServer = {
  /** A name or an address, without brackets. */
  readonly host: string
  readonly port: number
  readonly user: string
  /** Undefined if the server asks for none. */
  readonly password: string | undefined
  readonly database: string
  /** `require` encrypts. `verify-full` also checks the certificate and its name. */
  readonly tls: 'disable' | 'require' | 'verify-full'
  /** The file of the certificate authority. Undefined for those of the system. */
  readonly rootCertificate: string | undefined
  /** A pooler such as PgBouncer gives each transaction another session, so no statement is prepared for a session. */
  readonly isPooled: boolean
}

/** Where a database is, for the operator: without the user and the password. */
export function placeOf({ host, port, database }: DatabaseServer): string {
  return `${database} on ${host}, port ${port}`
}
