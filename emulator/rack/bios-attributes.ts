/** The firmware settings that each family of BMCs offers, with the types its attribute registry declares. */

import type { BiosFamily } from './profiles';

export type BiosAttribute = {
  readonly name: string;
  readonly default: string | number | boolean;
  /** Allowed values of an enumeration. */
  readonly values?: readonly string[];
  readonly min?: number;
  readonly max?: number;
  readonly readOnly?: true;
};

const onOff = ['Enabled', 'Disabled'] as const;

export const biosAttributes: Readonly<Record<BiosFamily, readonly BiosAttribute[]>> = {
  dell: [
    { name: 'BootMode', default: 'Uefi', values: ['Uefi', 'Bios'] },
    { name: 'ProcVirtualization', default: 'Enabled', values: onOff },
    { name: 'LogicalProc', default: 'Enabled', values: onOff },
    { name: 'SriovGlobalEnable', default: 'Disabled', values: onOff },
    {
      name: 'SysProfile',
      default: 'PerfPerWattOptimizedDapc',
      values: ['PerfPerWattOptimizedDapc', 'PerfOptimized', 'Custom'],
    },
    { name: 'MemTest', default: 'Disabled', values: onOff },
    { name: 'AcPwrRcvryUserDelay', default: 60, min: 60, max: 240 },
    { name: 'AssetTag', default: '', max: 63 },
    { name: 'SystemServiceTag', default: 'TMPR001', max: 7, readOnly: true },
  ],
  hpe: [
    { name: 'BootMode', default: 'Uefi', values: ['Uefi', 'LegacyBios'] },
    { name: 'ProcHyperthreading', default: 'Enabled', values: onOff },
    { name: 'ProcVirtualization', default: 'Enabled', values: onOff },
    { name: 'Sriov', default: 'Enabled', values: onOff },
    {
      name: 'WorkloadProfile',
      default: 'GeneralPowerEfficientCompute',
      values: ['GeneralPowerEfficientCompute', 'Virtualization-MaxPerformance', 'LowLatency', 'Custom'],
    },
    { name: 'PowerOnDelay', default: 'NoDelay', values: ['NoDelay', 'Random', '15Sec', '30Sec'] },
    { name: 'AdminName', default: '', max: 28 },
    { name: 'SerialNumber', default: 'TMPR0001', max: 16, readOnly: true },
  ],
  lenovo: [
    { name: 'SystemBootMode', default: 'UEFIMode', values: ['UEFIMode', 'LegacyMode'] },
    { name: 'Processors_HyperThreading', default: 'Enable', values: ['Enable', 'Disable'] },
    { name: 'Processors_IntelVirtualizationTechnology', default: 'Enable', values: ['Enable', 'Disable'] },
    { name: 'DevicesandIOPorts_SRIOV', default: 'Enable', values: ['Enable', 'Disable'] },
    {
      name: 'OperatingModes_ChooseOperatingMode',
      default: 'MaximumEfficiency',
      values: ['MaximumEfficiency', 'MaximumPerformance', 'CustomMode'],
    },
    { name: 'SystemRecovery_POSTWatchdogTimerValue', default: 5, min: 5, max: 20 },
  ],
  generic: [
    { name: 'BootMode', default: 'UEFI', values: ['UEFI', 'Legacy'] },
    { name: 'HyperThreading', default: 'Enabled', values: onOff },
    { name: 'Virtualization', default: 'Enabled', values: onOff },
    { name: 'SRIOV', default: 'Disabled', values: onOff },
    { name: 'QuietBoot', default: true },
    { name: 'SetupPromptTimeout', default: 1, min: 1, max: 60 },
    { name: 'AssetTag', default: '', max: 32 },
  ],
};

/** The settings of a family as they leave the factory. */
export const biosDefaults = (family: BiosFamily): Record<string, string | number | boolean> =>
  Object.fromEntries(biosAttributes[family].map((attribute) => [attribute.name, attribute.default]));

/** The registry's word for an attribute's type. */
export const biosType = (attribute: BiosAttribute): 'Enumeration' | 'Integer' | 'Boolean' | 'String' => {
  if (attribute.values) return 'Enumeration';
  if (typeof attribute.default === 'number') return 'Integer';
  return typeof attribute.default === 'boolean' ? 'Boolean' : 'String';
};
