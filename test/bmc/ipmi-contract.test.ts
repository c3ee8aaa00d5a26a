/** The driver contract against ipmi_sim, a simulator of BMCs that other people wrote. */
import { createDrivers } from '../../src/bmc';
import { actRow, acts } from '../../src/model/lifecycle/acts';
import type { ActName } from '../../src/model/lifecycle/steps';
import { ipmiMissing, ipmiPrograms, startSim } from '../support/ipmi';
import { driverContract } from './contract';
import { hasty, nodeWith, quiet } from './support/context';

/** What the driver has and ipmi_sim has not: OpenIPMI lanserv/bmc_chassis.c and bmc_app.c. */
const lacks: Partial<Record<ActName, string>> = {
  reset_bmc: 'cold reset is an invalid command to it',
};

/** What IPMI itself has no command for, or none that Temper uses. */
const offered: readonly ActName[] = [
  'verify',
  'power_on',
  'power_off',
  'soft_power_off',
  'inject_nmi',
  'read_boot_device',
  'list_boot_devices',
  'set_boot_device',
  'set_indicator',
  'reset_bmc',
  'send_raw',
];
const foreign = (Object.keys(acts) as ActName[]).filter((act) => actRow(act).by !== 'agent' && !offered.includes(act));

const setUp = async () => {
  const sim = await startSim();
  const drivers = createDrivers({
    log: quiet,
    networks: ['127.0.0.0/8'],
    limits: { ...hasty, answerMs: 12_000 },
    ipmitool: ipmiPrograms().ipmitool,
  });
  return {
    driver: drivers.get('ipmi'),
    node: nodeWith('ipmi', sim.driver_info),
    proxy: sim.proxy,
    // It does not say whether its light is on, so that being asked again is the same statement again.
    commands: { set_indicator: 2 },
    settings: [],
    image: '',
    async close() {
      await drivers.close();
      await sim.close();
    },
  };
};

if (ipmiMissing === undefined) driverContract('ipmi on ipmi_sim', setUp, lacks, foreign);
else test.skip(`driver contract: ipmi on ipmi_sim (${ipmiMissing})`, () => undefined);
