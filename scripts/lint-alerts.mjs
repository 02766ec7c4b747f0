// Checks deploy/prometheus with promtool: the configuration, the alert rules and their tests. Checks Alertmanager's configuration.
import { spawnSync } from 'node:child_process';

if (spawnSync('promtool', ['--version']).error !== undefined) {
  console.log("promtool is not installed (Debian's package is prometheus): the alert rules were not checked");
  process.exit(0);
}

const checks = [
  ['check', 'config', 'deploy/prometheus/prometheus.yml'],
  ['check', 'rules', 'deploy/prometheus/alerts.yml'],
  ['test', 'rules', 'deploy/prometheus/alerts.test.yml'],
];
const failed = checks.filter((args) => spawnSync('promtool', args, { stdio: 'inherit' }).status !== 0);
const configuration = 'deploy/alertmanager/alertmanager.yml';
const { error, status } = spawnSync('amtool', ['check-config', configuration], { stdio: 'inherit' });
if (error !== undefined)
  console.log(
    `amtool is not installed (Debian's package is prometheus-alertmanager): ${configuration} was not checked`,
  );
process.exit(failed.length === 0 && (error !== undefined || status === 0) ? 0 : 1);
