/** What `npm start` prints can be typed as it stands, wherever the data folder lies. */
import { spawnSync } from 'node:child_process';

const { welcome } = require('../../scripts/start') as { welcome(up: { addresses: object; dir: string }): string };

test.each(['/data', '/my data', "/it's mine", '/a$HOME`id`"b'])(
  'the export line of %s is one word of a shell',
  (dir) => {
    const clouds = `${dir}/clouds.yaml`;
    const line = welcome({ addresses: { clouds }, dir })
      .split('\n')
      .find((one) => one.includes('export OS_CLIENT_CONFIG_FILE='));
    const { stdout } = spawnSync('sh', ['-c', `${line}\nprintf %s "$OS_CLIENT_CONFIG_FILE"`], { encoding: 'utf8' });
    expect(stdout).toBe(clouds);
  },
);
