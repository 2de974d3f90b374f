"""Where the programs of a command line take secrets: which of their flags, and which of their words. What is read by a rule of its own
is only named here.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Program:
    """Where one family of programs takes secrets.

    - ``values``: flags whose word is one (``-p x``, ``-px``, ``--pass=x``);
    - ``glued``: short flags that take one only without a blank (``mysql -px``; with a blank it is the database);
    - ``pairs``: flags whose word is ``user:password``, all of it a credential; ``percent``: the same with ``%``, the password alone masked;
    - ``cookies``: flags whose word is a line of cookies;
    - ``places``: per beginning of the words that are no flags, which of the words behind it are secret;
    - ``named``: beginnings after which a name and its value follow.
    """

    names: tuple[str, ...]
    values: tuple[str, ...] = ()
    glued: tuple[str, ...] = ()
    pairs: tuple[str, ...] = ()
    percent: tuple[str, ...] = ()
    cookies: tuple[str, ...] = ()
    places: tuple[tuple[tuple[str, ...], tuple[int, ...]], ...] = ()
    named: tuple[tuple[str, ...], ...] = ()


_LOGIN = (
    "docker login", "podman login", "nerdctl login", "buildah login", "skopeo login", "registry login", "oras login", "crane auth login",
    "oc login", "az login", "cf login", "ibmcloud login", "twine upload", "argocd login", "flux create secret",
)  # fmt: skip

PROGRAMS: tuple[Program, ...] = (
    Program(
        ("curl",),
        values=("--pass", "--proxy-pass", "--oauth2-bearer", "--tlspassword"),
        pairs=("-u", "--user", "-U", "--proxy-user"),
        cookies=("-b", "--cookie"),
    ),
    Program(("etcdctl",), pairs=("--user",)),
    Program(("wget", "aria2c"), values=("--password", "--http-password", "--http-passwd", "--ftp-password", "--ftp-passwd", "--proxy-password")),
    Program(
        ("mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlshow", "mysqlsh", "mariadb", "mariadb-dump", "mycli"),
        values=("--password",),
        glued=("-p",),
    ),
    Program(("sshpass",), values=("-p",)),
    Program(("ssh",), values=("-P",)),
    Program(("plink", "pscp", "psftp", "putty", "kitty"), values=("-pw",)),
    Program(_LOGIN, values=("-p", "-P", "--password", "--token", "--apikey", "--client-secret")),
    Program(
        ("mongo", "mongosh", "mongodump", "mongorestore", "mongoimport", "mongoexport", "psexec", "psexec64", "paexec", "crackmapexec", "nxc",
         "netexec", "evil-winrm", "smbmap", "hydra", "cqlsh", "cypher-shell", "nmap-login", "kadmin", "dscl"),
        values=("-p", "--password"),
    ),
    Program(("smbmap", "mosquitto_pub", "mosquitto_sub", "mosquitto_rr", "sqlcmd", "bcp", "osql", "isql", "ipmitool", "p4"), values=("-P", "--pw")),
    Program(("redis-cli", "valkey-cli", "keydb-cli"), values=("-a", "--pass")),
    Program(("ldapsearch", "ldapmodify", "ldapadd", "ldapdelete", "ldappasswd", "ldapwhoami", "ldapcompare", "dsconf", "kinit"), values=("-w", "-s")),
    Program(("zip", "unzip"), values=("-P", "--password")),
    Program(("7z", "7za", "7zr", "rar", "unrar"), glued=("-p", "-hp")),
    Program(("keytool", "jarsigner"), values=("-storepass", "-keypass", "-srcstorepass", "-deststorepass", "-srckeypass", "-destkeypass", "-new")),
    Program(("gpg", "gpg2"), values=("--passphrase",)),
    Program(("openssl",), values=("-pass", "-passin", "-passout", "-password", "-k", "-K")),
    Program(("smbclient", "rpcclient", "smbget", "net rpc", "net ads"), percent=("-U", "--user")),
    Program(("lftp",), percent=("-u", "--user")),
    Program(("influx",), values=("-password", "--password", "-t", "--token")),
    Program(("snmpwalk", "snmpget", "snmpset", "snmpbulkwalk"), values=("-A", "-X")),
    Program(("vercel", "codecov", "doctl auth init"), values=("-t", "--token", "--access-token")),
    Program(("cypress run",), values=("-k", "--key")),
    Program(("tailscale up",), values=("--authkey", "--auth-key")),
    Program(("docker swarm join", "docker swarm unlock"), values=("--token", "--key")),
    Program(("rabbitmqctl",), places=((("add_user",), (1,)), (("change_password",), (1,)), (("authenticate_user",), (1,)))),
    Program(("mc", "mcli"), places=((("alias", "set"), (2, 3)), (("config", "host", "add"), (2, 3)))),
    Program(("vault",), places=((("operator", "unseal"), (0,)), (("unseal",), (0,)), (("login",), (0,)), (("auth",), (0,)))),
    Program(("snyk auth", "ngrok authtoken", "ngrok config add-authtoken", "wandb login", "cargo login", "wpa_passphrase"), places=(((), (0, 1)),)),
    Program(("aws configure",), named=(("set",),)),
    Program(("npm", "pnpm", "yarn"), named=(("config", "set"), ("set",))),
    Program(("git config", "pip config", "poetry", "conda"), named=(("config",), ("set",), ("config", "set"), ())),
    Program(("bundle", "bundler"), places=((("config",), ()), (("config", "set"), ()))),
    Program(("rclone",), places=((("obscure",), (0,)),), named=()),
    Program(("net use",), places=(((), (2,)),)),
    Program(("net user",), places=(((), (1,)),)),
)  # fmt: skip

BY_NAME: dict[str, list[Program]] = {}
for _program in PROGRAMS:
    for _name in _program.names:
        BY_NAME.setdefault(_name, []).append(_program)

IMPACKET = tuple(
    f"{tool}{suffix}" if suffix else f"impacket-{tool}"
    for tool in (
        "secretsdump",
        "psexec",
        "wmiexec",
        "smbexec",
        "atexec",
        "dcomexec",
        "getuserspns",
        "getnpusers",
        "mssqlclient",
        "lookupsid",
    )
    for suffix in (".py", "")
)
ORACLES = ("sqlplus", "impdp", "expdp", "sqlldr", "rman target")
OTHERS = ("htpasswd", "connect-viserver", "convertto-securestring", "kubectl", "oc", "gh secret set", *IMPACKET, *ORACLES)
INPUTS = ("--password-stdin", "--with-token", "chpasswd", "--stdin", "sudo -s", "--token-stdin", "vault login -", "cargo login")

NAMES = tuple(sorted((*BY_NAME, *OTHERS)))
