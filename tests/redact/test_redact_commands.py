from __future__ import annotations

import json

import pytest
from redact_samples import PASSWORD, redactor, trace

from tachograph.redact.finders import commands
from tachograph.redact.rules.examples import hexa, letters, mixed, uuid

REDACTOR = redactor()
WORD = mixed(14)
CHOSEN = "Op3n" + "sesame!"


def masked(text: str) -> list[str]:
    return [text[found.start : found.end] for found in sorted(commands.find(text))]


@pytest.mark.parametrize(
    "text",
    [
        "curl -u me:{} https://x",
        "curl -s --user 'me:{}' https://x",
        'curl -s --user "me@example.com:{}" https://x',
        "curl https://x -u me:{}",
        "curl https://x \\\n  -H 'a: b' \\\n  -u me:{}",
        "curl https://x \\\n  --user me:{} \\\n  --data a=b",
        "curl --proxy-user me:{} https://x",
        "curl --user=me:{} https://x",
        "curl -ume:{} https://x",
        "sh -c \"curl -u 'me:{}' https://x\"",
        "sh -c 'curl -u me:{}'",
        '$ curl -u "me:{}"',
        "run `curl -u me:{}` now",
        "etcdctl --user me:{} get a",
        'subprocess.run(["curl", "-u", "me:{}", "https://x"])',
        "(curl -u me:{})",
        "/usr/bin/curl -u me:{} https://x",
        "curl.exe -u me:{} https://x",
    ],
)
def test_a_pair_of_user_and_password_is_masked_whole(text: str) -> None:
    for password in (WORD, CHOSEN):
        found = masked(text.format(password))
        assert len(found) == 1
        assert found[0].endswith(password)
        assert found[0].startswith("me")


def test_quotes_inside_a_word_belong_to_it() -> None:
    assert masked(f"curl --user kevin:'{WORD}' -i") == [f"kevin:'{WORD}'"]
    assert masked(f'curl --user "{uuid()}":"{WORD}" -i') == [f'"{uuid()}":"{WORD}"']


def test_half_a_pair() -> None:
    assert masked(f'curl -u ":{WORD}" https://x') == [":" + WORD]
    assert masked(f"curl -u '{WORD}:' https://x") == [WORD + ":"]
    assert masked("curl -u me: https://x") == []


@pytest.mark.parametrize(
    "text",
    [
        "mysql -u root -p{} -h db prod",
        "mysql -uroot '-p{}' prod",
        "mysqldump --password={} prod",
        "mariadb -p'{}' prod",
        "sshpass -p {} ssh host",
        "sshpass -p'{}' ssh -p 22 host",
        "plink -pw {} me@host",
        "docker login -u ci -p {} registry.example.com",
        "podman login --username ci --password {} registry.example.com",
        "az login --service-principal -u x -p {} --tenant y",
        "oc login https://x --token={}",
        "psexec \\\\host -u DOMAIN\\me -p {} cmd",
        "PSEXEC.EXE \\\\host -u me -p {} cmd",
        "cmd /C PsExec64.exe /accepteula @C:\\share$\\c.txt -u D\\me -p {} cmd",
        "mongosh -u root -p {} db",
        "mosquitto_pub -h x -p 1883 -u me -P {} -t a",
        "redis-cli -h x -a {} ping",
        "ldapsearch -x -D cn=admin -w {} -b dc=x",
        "zip -P {} a.zip b",
        "7z x -p{} a.7z",
        "htpasswd -b file me {}",
        "htpasswd -nbB me {}",
        "openssl rsa -in a -passin pass:{} -out b",
        "openssl enc -aes-256-cbc -k {} -in a",
        "keytool -list -keystore a -storepass {}",
        "gpg --batch --passphrase {} -d a.gpg",
        "sqlcmd -S db -U sa -P {} -Q x",
        "bcp t out f -S db -U sa -P '{}'",
        "smbclient //host/share -U me%{}",
        "rpcclient -U 'me%{}' host",
        "lftp -u me,{} host",
        "wget --user me --http-password {} https://x",
        "snmpwalk -v3 -u me -A {} host",
        "mc alias set local https://x ACCESS0 {}",
        "vault operator unseal {}",
        "vault login {}",
        "rabbitmqctl add_user me {}",
        "rabbitmqctl change_password me {}",
        "aws configure set aws_secret_access_key {} --profile x",
        "npm config set //registry.example.com/:_authToken {}",
        "npm config set //registry.example.com/:_authToken={}",
        "net use Z: \\\\host\\share {} /user:me",
        "kubectl create secret generic a --from-literal=password={} -n x",
        "kubectl create secret docker-registry a --docker-username=me --docker-password={}",
        "kubectl -n x create secret generic a --from-literal key={}",
        "gh secret set NAME --body {}",
        "Connect-VIServer host -User me -Password {}",
        "ConvertTo-SecureString -String {} -AsPlainText -Force",
        "ConvertTo-SecureString '{}' -AsPlainText -Force",
        "echo {} | docker login -u ci --password-stdin registry.example.com",
        "echo '{}' | gh auth login --with-token",
        "printf '%s' '{}' | docker login -u ci --password-stdin",
        "echo root:{} | chpasswd",
        "echo {} | sudo -S apt update",
        "gh auth login --with-token <<< {}",
        "secretsdump.py DOMAIN/me:{}@10.0.0.1",
        "impacket-psexec DOMAIN/me:{}@10.0.0.1 cmd",
        "sqlplus me/{}@//db:1521/x",
        "curl -b session={} https://x",
    ],
)
def test_where_a_program_takes_its_password(text: str) -> None:
    assert masked(text.format(WORD)) == [WORD]
    line = f"{text.format(WORD)}\nnext line"
    out = REDACTOR.text(line)
    assert trace(WORD, out) is None
    assert out.endswith("\nnext line")


@pytest.mark.parametrize(
    "text",
    [
        "curl -u user:pass https://x",
        "curl -u username:password https://x",
        "curl -i -u 'test:test'",
        'curl -u "${U}:${P}" https://x',
        'curl -sL --user "$1:$2" "$3"',
        "curl -u <user:password> https://x",
        "curl --user neo4j:[PASSWORD] https://x",
        'curl -u ":" https://x',
        'curl --user "xxx:yyy"',
        'curl -u "$(cat ./login.txt):$(cat ./password.txt)"',
        'curl --user "{{ .Values.username }}:{{ .Values.password }}"',
        "curl -u me https://x",
        "curl -U someone -o a.tgz https://x",
        "ssh -p2222 host",
        "ssh -p 2222 host",
        "scp -P 22 a host:b",
        "cp -p a b",
        "mysql -p prod",
        "mysql -u root -p",
        "mongo -p $PASSWORD db",
        "psexec \\\\host -u me -p %PASSWORD% cmd",
        "docker run -p 8080:80 nginx",
        "docker login -p <token>",
        "mosquitto_sub -h x -p 8883 -t a",
        "openssl rsa -passin env:KEY_PASS -in a",
        "openssl rsa -passin file:/run/key -in a",
        "zip -r a.zip b",
        "vault login -method=oidc",
        "vault operator unseal",
        "npm config set registry https://registry.example.com",
        "git config user.name someone",
        "aws configure set region us-east-1",
        "htpasswd -c file me",
        "mc alias set local https://x $ACCESS $SECRET",
        "kubectl create secret generic a --from-literal=password=$PASSWORD",
        "kubectl create secret generic a --from-file=tls.key",
        "echo done | docker login --password-stdin",
        "cat token | gh auth login --with-token",
        "the curl handle -u of a program",
        "net use is a command of Windows",
        'ConvertTo-SecureString "$password" -AsPlainText',
        "sqlplus / as sysdba",
        "secretsdump.py -h",
        "curl -b cookies.txt -c cookies.txt https://x",
    ],
)
def test_nothing_secret(text: str) -> None:
    assert masked(text) == []
    assert REDACTOR.text(text) == text


def test_a_command_ends_at_its_line_or_pipe() -> None:
    assert masked(f"curl https://x\n-u me:{WORD}") == []
    assert masked(f"mysql prod | tee -p{WORD}") == []


def test_words_of_an_argument_vector() -> None:
    for argv, secret in (
        (["curl", "-u", f"me:{CHOSEN} 7 z x", "https://x"], f"me:{CHOSEN} 7 z x"),
        (["/usr/bin/mysql", f"-p{WORD}", "prod"], WORD),
        (["sudo", "-E", "docker", "login", "-u", "ci", "-p", WORD], WORD),
        (["vault", "operator", "unseal", WORD], WORD),
        (["sshpass", "-p", "a;b|c d1", "ssh", "x"], "a;b|c d1"),
    ):
        out = REDACTOR.arguments(argv)
        assert len(out) == len(argv)
        assert secret not in " ".join(out)
        assert sum(a != b for a, b in zip(argv, out, strict=True)) == 1
    for argv in (["ssh", "-p", "2222", "x"], ["cp", "-p", letters(20), "b"], ["git", "commit", "-m", "curl -u"], []):
        assert REDACTOR.arguments(argv) == argv


def test_in_json() -> None:
    text = json.dumps({"command": f"curl -u 'me:{PASSWORD}' https://x && echo \"done\""})
    out = REDACTOR.text(text)
    assert trace(PASSWORD, out) is None
    assert json.loads(out)["command"].endswith('\' https://x && echo "done"')


def test_escaped_in_a_text_that_is_no_json() -> None:
    text = f'INFO ran "bash -c \\"curl -u \\\'me:{WORD}\\\' https://x\\"" in 3 s'
    assert trace(WORD, REDACTOR.text(text)) is None


def test_a_program_is_needed() -> None:
    assert commands.find(f"frobnicate -u me:{WORD} -p {hexa(32)}") == []


def test_a_command_in_a_command() -> None:
    assert masked(f"oc -n vault exec -ti vault-0 -- vault operator unseal {WORD}") == [WORD]
    assert masked(f"docker run --rm docker:cli docker login -p {WORD}") == [WORD]


def test_the_colon_of_a_default_parts_no_pair() -> None:
    assert commands.find('curl -u "${USER:-${DEFAULT_USER}}:${APIKEY:-${DEFAULT_APIKEY}}" https://x.example.net') == []
