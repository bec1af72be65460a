import { join } from 'node:path'
import { expect, test } from 'bun:test'
import { adviceOnMigrations, type LandedMigrations } from '../../../../test/support/landed-migrations.ts'

const FOLDER = join(import.meta.dirname, '../migrations')

const landed: LandedMigrations = {
  '0001_books.sql': 'e1d15741fd01ffb306fa2efece20c3d51c464058c3cc2cb49fe63c3b5545c925',
  '0002_batches.sql': 'b485844da25ff5d25c4a5ade25da678b0bb500e5eec2c2309caa2db664ecf345',
  '0003_hold_expiry.sql': '71baa6c2446ba3b9822bfaceb2909ce71d275531691d35d674bab607606f50a1',
  '0004_access.sql': 'd6514576604f0b949ecbab842dec83c18617b47d1a428dbaa9f4312691c343e4',
  '0005_work.sql': '20c65eacad4fc8ef9f0a8ec653aa9b269af672e0593ab5c0b498f6cb9737f627',
  '0006_catalog.sql': '285e737983437b9337f0446ea3c98a19475bc388ed8f7c8e91f31d497ef7f33b',
  '0007_events.sql': '8622d7c614c5ff70c8d6b621674830e5dfcde786b99b8c381406a6855075ecee',
  '0008_limits.sql': '96a4810d586a4c5f50e5825ddc534815656d42d439f8f463bdd58d101c408958',
  '0009_leases.sql': '01b9da84cb013990b1f405693bd378dce77014c0357a9303917c9aa177678078',
  '0010_requests.sql': 'f5995d6a3a72315fa922786f1d96b209bfb35edc6300af2f0fd355ef4c1b7133',
  '0011_store_copy.sql': '1e96874233907ed1a011cac7fb63a05f6c0ea65e643b59f9df2ac7c48185efee',
  '0012_users.sql': 'b12b34513ac843f2a2b08a9b11081525b9288e0f577ec8a2396fd424e25565d8',
  '0013_book_checks.sql': '3d66218f6c762375a9a1d585aeef9babb539f669cd28459077b4addf6af4b4b1',
  '0014_limits_of_batches.sql': '70fdeda05f0ba4618dd185674044f2084d40fc416748aed9ee8dcaf7e9bf0c37',
  '0015_checked_books.sql': '98c2d62a4dc2b0f660575a9ae9bac4eb106fb01a29ffad95d68ef2cb3ae973f0',
}

test('a migration of PostgreSQL that has landed is never edited, renamed or removed', () => {
  expect(adviceOnMigrations(FOLDER, 'Databases', landed)).toEqual([])
})
