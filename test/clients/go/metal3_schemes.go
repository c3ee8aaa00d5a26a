// Metal3: a host of every scheme of its BMC URLs is enrolled as the operator enrols it, and removed.

package main

import (
	"context"
	"fmt"

	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/nodes"
)

// enrolled is a host as the operator describes it to the API.
type enrolled struct {
	Scheme     string            `json:"scheme"`
	Driver     string            `json:"driver"`
	DriverInfo map[string]any    `json:"driver_info"`
	Interfaces map[string]string `json:"interfaces"`
}

func walkMetal3Schemes(ctx context.Context, w *walker, given setting) {
	for _, host := range given.Hosts {
		w.does(host.Scheme, func() error { return enrolAs(ctx, w, host) })
	}
}

func enrolAs(ctx context.Context, w *walker, host enrolled) error {
	by := host.Interfaces
	made, err := nodes.Create(ctx, w.api, nodes.CreateOpts{
		Driver: host.Driver, DriverInfo: host.DriverInfo,
		BIOSInterface: by["bios_interface"], BootInterface: by["boot_interface"], FirmwareInterface: by["firmware_interface"],
		InspectInterface: by["inspect_interface"], ManagementInterface: by["management_interface"],
		PowerInterface: by["power_interface"], RAIDInterface: by["raid_interface"], VendorInterface: by["vendor_interface"],
	}).Extract()
	if err != nil {
		return err
	}
	defer nodes.Delete(ctx, w.api, made.UUID)
	changed, err := nodes.Update(ctx, w.api, made.UUID, nodes.UpdateOpts{
		add("/driver_info/deploy_kernel", "http://images.example.org/kernel"),
		add("/driver_info/deploy_ramdisk", "http://images.example.org/ramdisk"),
		add("/driver_info/deploy_iso", "http://images.example.org/ramdisk.iso"),
		add("/deploy_interface", "custom-agent"),
	}).Extract()
	if err != nil {
		return err
	}
	checked, err := nodes.Validate(ctx, w.api, made.UUID).Extract()
	if err != nil {
		return err
	}
	if !checked.Boot.Result || !checked.Deploy.Result || !checked.Power.Result {
		return fmt.Errorf("boot, deploy, power: %s", shown([]nodes.DriverValidation{checked.Boot, checked.Deploy, checked.Power}))
	}
	return same("driver, boot and deploy interface",
		[]string{changed.Driver, changed.BootInterface, changed.DeployInterface},
		[]string{host.Driver, by["boot_interface"], "custom-agent"})
}
