/** Every kind of event is a sentence, with and without the fields of its data. */
import { wordsOf } from '../../src/console/parts/event-words';
import { kindsWith, webhookKinds } from '../../src/model/resources/event-kinds';

const kinds = [...webhookKinds, ...kindsWith('stream')];

test.each(kinds)('%s is said in words, also if its data are hidden', (kind) => {
  for (const data of [{}, { step: 'power.reboot', from: 'active', to: 'servicing', act: 'power_on', reason: 'a cable', error: 'HTTP 500' }]) {
    const { says } = wordsOf(kind, data);
    expect(says).toMatch(/^\S/);
    expect(says).not.toMatch(/[{}[\]]|undefined|null|object/);
    expect(says).not.toContain(kind);
  }
}); // biome-ignore format: short lines

test.each([
  ['node.maintenance.set', { by: 'power sync', maintenance_reason: 'no answer' }, 'Maintenance set by power sync: no answer'],
  ['node.maintenance.set', {}, 'Maintenance set'],
  ['node.updated', { changed: ['name', 'traits'] }, 'Settings changed: name, traits'],
  ['node.console.set', { console_enabled: false }, 'Serial console switched (enabled: no)'],
  ['step.tried', { step: 'power.reboot', attempt: 2, error: 'HTTP 500' }, 'power.reboot failed in attempt 2: HTTP 500'],
  ['run.succeeded', { from: 'servicing', to: null }, 'Succeeded'],
  ['run.failed', { error: '{from} [a]' }, 'Failed: {from} [a]'],
  ['some.newer_kind', {}, 'some newer kind'],
])('%s with %j: %s', (kind, data, says) => {
  expect(wordsOf(kind, data).says).toBe(says);
}); // biome-ignore format: one kind a row
