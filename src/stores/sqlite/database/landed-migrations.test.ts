import { join } from 'node:path'
import { expect, test } from 'bun:test'
import { adviceOnMigrations, type LandedMigrations } from '../../../../test/support/landed-migrations.ts'

const FOLDER = join(import.meta.dirname, '../migrations')

const landed: LandedMigrations = {
  '0001_books.sql': '8b3be79ee022a235fcc40d3c40f0b1496e8d76e1d1e14b02ad668714af63c101',
  '0002_catalog.sql': '0fdbfa4b49b00e22e517687648ef4bd5f7e044a93ea0474b03ca3bf4fafc711e',
  '0003_attempts.sql': 'bb227212595bfb6e97aa19f2622efc5af8c77832a36834d2c45327b2aed1748c',
  '0004_audit_details.sql': '3f0514cf5454cd7943a644616f1c88ef5a1c812d7a5812679ff89433a60701a7',
  '0005_one_row_an_operation.sql': '65ee52226114d7af52add29ffa5ae9bef21e2c686fc22c87d442c95533bb06ab',
  '0006_ids.sql': 'b5d1141d2d9909eae61a4fc2d0d986b9746f7a02892a01b87a1d8b6324061350',
  '0007_hold_owners.sql': '80def97703c34f30ff680d7e3d075626452ccdbce3175641309f114773f1bc97',
  '0008_media_charges.sql': '07cd2e5e821e7102f499f4225b511a67c3cbe2837421dd2c086e5015d3c6676a',
  '0009_jobs.sql': '5b71403cf50e1b6c7731dbaff59a2b5f4c9c194fc1c799696dd47fd4db6cfed1',
  '0010_commits.sql': 'afbd7151ef5431b0084cd7a1786b8ecec16ca439e5462f69a389fa8132302777',
  '0011_covered_creations.sql': 'f5038a83c1c6a8b8697b07b4ef948203bb56d1e074d8143509c2e01e3643787d',
  '0012_unknown_usage.sql': '940ce5f1bbe8e4edf7e3f201cb30341fdee38392b09d96e63893bed38186219a',
  '0013_catalog_history.sql': 'b87ad1e3cc16394f56ab0c6c71e30488d25e31af924d2ed6ecf6344711f6e5a7',
  '0014_usage_days.sql': '56551c3353450dc383020d4838680859f70f1a8ac35e48495f0ba191df00afde',
  '0015_job_losses.sql': '1c159d12028350c03959e3db724d7be3d7f47cf25b98f9d136df585265fe5c36',
  '0016_server_tools.sql': '3d4525a79097791a554445bd67514ea32d0453fd18328fab35d25956b571674d',
  '0017_corrections.sql': 'ecddbbb1a7e23ce25329bdd179a860534c384029c9c499866f98c4a3e1eebfb9',
  '0018_account_replays.sql': 'b1e87fbef80bb20ec2b2b2d80dce49da3f62f423e83ac463977051ccba1f81bd',
  '0019_reported_costs.sql': '350fd0891739c6a5e35ae31b516a4bf6fcd6be37eff97e41391cda7282a997c5',
  '0020_complete_checks.sql': 'd83998bd9468a71e2c40867ffd462871914e33905a646019b78b117c3be1927f',
  '0021_partial_refunds.sql': '37615814b5a94fcdc1312095299485fb5de6926d0f2f4218b559e22393b6a70d',
  '0022_job_requests.sql': '319c0aadeb954111b6ef2e09f59a9d13f31019cf35088c65a27773ddef7a97cd',
  '0023_limits.sql': 'f58b452b82f838286ff5d5ce61f2111e4c397531e10c57c8918e55a93e331064',
  '0024_admin_tokens.sql': '665a137f5d3fba64fde3b6770329cbe6ad8635e0461dbdcdcbb6add2db84e410',
  '0025_charge_tags.sql': '3357c994091cbd0a501f2e90aa131b3067a648c3b0fac4aab6c993f1a51444de',
  '0026_projects.sql': 'eeebc79a616c190c9c3647745c7e45f4a27bda556bf1ab84d85d898cd215b3c2',
  '0027_rotation.sql': '5b0ce8ee3f8bfae5d4b209ebee23afbebaa12575611560f7f270bf01c3f2ffe9',
  '0028_key_settings.sql': '2d97e31279ef692945975b1adacebc27213e0bc6505d7be2e83d082712728d3e',
  '0029_key_names.sql': 'dcfba3c3d71624c471161c4dad4f7d19b0ba4e23eccd2c5722cddf3f017394b5',
  '0030_price_lists.sql': '6146a55d22d3af22251865bf7c534b4cebf879026c43ad3f294dbcdfa45cd6d2',
  '0031_webhooks.sql': '9582baae49bbf6eb9074671c9f8a98cd3fd42e767a99c006e8a4d1951c46a454',
  '0032_day_costs.sql': '0470d3328be9f20cc84c3c257c0c37f0bcc5486f7db6890a8b5a762428b05aae',
  '0033_job_request_index.sql': '0f390d183142ccf4138d70c98c6ac9841dcfda79b67665a3f1e19476817c6d83',
  '0034_told_events.sql': '8a0f9a0abb9cb47a52209cf20b4a614b65a146bb87cc762819a3e3aa4d1d75af',
  '0035_mail.sql': '47effe362cbbcb3772b46d12f90947fbfde1f015721e1d33c39ca60abb377cdf',
  '0036_users.sql': '11cea12e0ccff1ebcbfef415aca06e6590896075733534c7152c6141632a0788',
  '0037_contacts_index.sql': '854187810749a2847bd7ed9f7ddcc3ea954f06e77d601e40aef8c03fe6493804',
  '0038_other_operations.sql': '7edd309b77af71fda8ec9da074dc76cc9e8ebbd24c2e08a38b9325593b63a26f',
}

test('a migration that has landed is never edited, renamed or removed', () => {
  expect(adviceOnMigrations(FOLDER, 'Data folders', landed)).toEqual([])
})
