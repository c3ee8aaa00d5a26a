/** Steps of runbooks that several files store. */
export const reboot = { interface: 'power', step: 'reboot', order: 1, args: {} } as const;

/** Sets one setting of the BIOS. */
export const biosStep = (name: string, value: string) => ({
  interface: 'bios',
  step: 'apply_configuration',
  order: 2,
  args: { settings: [{ name, value }] },
});
