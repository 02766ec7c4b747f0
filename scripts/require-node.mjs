// Ends the process with one line if Node is too old. Scripts import this file first. Old versions of Node must be able to
// parse it.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`This service needs Node 20.19 or later, this is ${process.versions.node}.`);
  process.exit(1);
}
