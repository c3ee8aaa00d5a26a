/** The program behind `npm run demo`: tells the story on the system it is pointed at; status 0 when every claim held. */
import { tellStory } from './story';
import { createTeller } from './tell';

const file = process.env.TEMPER_SYSTEM_FILE;
if (!file) {
  process.stderr.write('TEMPER_SYSTEM_FILE is not set: start this with `npm run demo`.\n');
  process.exit(64);
}

tellStory(
  file,
  createTeller((line) => process.stdout.write(`${line}\n`)),
).then(
  (allHold) => process.exit(allHold ? 0 : 1),
  (error: Error) => {
    process.stdout.write(`\nThe demo could not go on: ${error.message}\n`);
    process.exit(1);
  },
);
