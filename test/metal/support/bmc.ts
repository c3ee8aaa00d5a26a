/** What a person does at the console of a machine's BMC, past Temper. */

export type BmcConsole = {
  /** Ejects the virtual media. */
  eject(): Promise<void>;
  /** Powers the machine on, to boot by the network now and later. */
  bootByNetwork(): Promise<void>;
};

/** @param base of the BMC, without a path */
export const bmcConsole = (base: string, uuid: string): BmcConsole => {
  const system = `${base}/redfish/v1/Systems/${uuid}`;
  const headers = { 'content-type': 'application/json', authorization: `Basic ${btoa('root:calvin')}` };
  const send = async (method: 'PATCH' | 'POST', url: string, body: object): Promise<void> => {
    const { status } = await fetch(url, { method, headers, body: JSON.stringify(body) });
    if (status >= 300) throw new Error(`the BMC answered ${status} to ${method} ${url}`);
  };
  return {
    eject: () => send('POST', `${system}/VirtualMedia/Cd/Actions/VirtualMedia.EjectMedia`, {}),
    async bootByNetwork() {
      const Boot = { BootSourceOverrideTarget: 'Pxe', BootSourceOverrideEnabled: 'Continuous' };
      await send('PATCH', system, { Boot });
      await send('POST', `${system}/Actions/ComputerSystem.Reset`, { ResetType: 'On' });
    },
  };
};
