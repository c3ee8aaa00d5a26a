/** scratch */
import { type System, startSystem } from './support/system';

let system: System;
beforeAll(async () => {
  const t = Date.now();
  system = await startSystem(4);
  console.log('start', Date.now() - t);
}, 300000);
afterAll(async () => {
  const t = Date.now();
  await system?.stop();
  console.log('stop', Date.now() - t);
}, 120000);
test('x', async () => {
  console.log(JSON.stringify(system.record(), null, 1).slice(0, 3000));
  const p = system.kill('api');
  const t = Date.now();
  await system.back('api', p);
  console.log('api back', Date.now() - t);
}, 100000);
