// Checks deploy/prometheus with promtool: the configuration, the alert rules and their tests. Checks Alertmanager's configuration.
import { spawnSync } from 'node:child_process';

const CHECKS = [
  ['promtool', 'check', 'config', 'deploy/prometheus/prometheus.yml'],
  ['promtool', 'check', 'rules', 'deploy/prometheus/alerts.yml'],
  ['promtool', 'test', 'rules', 'deploy/prometheus/alerts.test.yml'],
  ['amtool', 'check-config', 'deploy/alertmanager/alertmanager.yml'],
];
const DEBIAN_PACKAGES = { promtool: 'prometheus', amtool: 'prometheus-alertmanager' };

for (const [tool, ...args] of CHECKS) {
  const { error, status } = spawnSync(tool, args, { stdio: 'inherit' });
  if (error !== undefined)
    console.log(
      `${tool} is not installed (Debian's package is ${DEBIAN_PACKAGES[tool]}): ${args.at(-1)} was not checked`,
    );
  else if (status !== 0) process.exitCode = 1;
}
