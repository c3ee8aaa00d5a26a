"""The few options that the real ramdisk's API client reads, so that it can be used without the service around it."""

from oslo_config import cfg

cfg.CONF.register_opts([
    cfg.BoolOpt('insecure', default=False),
    cfg.StrOpt('cafile'),
    cfg.StrOpt('certfile'),
    cfg.StrOpt('keyfile'),
    cfg.StrOpt('tls_min_version', default='1.2'),
    cfg.StrOpt('tls_cipher_suites'),
    cfg.StrOpt('global_request_id'),
    cfg.StrOpt('ironic_api_version'),
    cfg.IntOpt('http_request_timeout', default=30),
])
cfg.CONF([], project='ramdisk')
