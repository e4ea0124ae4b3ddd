"""What AWS or its SDK says went wrong, in our words.

The texts of the SDK may hold addresses and bodies, so that none of them is passed on: what stays
of an error is its code, which never holds any.
"""

from __future__ import annotations

from ...errors import (
    LookupDenied,
    LookupFailed,
    PathNotFound,
    ProviderUnavailable,
    printable,
    shorten,
)

DENIED = {"AccessDeniedException", "AccessDenied", "UnauthorizedException"}
EXPIRED = {"ExpiredToken", "ExpiredTokenException", "RequestExpired"}
UNKNOWN_KEYS = {
    "UnrecognizedClientException",
    "InvalidClientTokenId",
    "InvalidSignatureException",
    "SignatureDoesNotMatch",
    "IncompleteSignature",
    "MissingAuthenticationToken",
    "MissingAuthenticationTokenException",
}
KMS = {
    "DecryptionFailure",
    "InvalidKeyId",
    "EncryptionFailure",
    "KMS.AccessDeniedException",
    "KmsAccessDenied",
}
ABSENT = {
    "ResourceNotFoundException",
    "ParameterNotFound",
    "ParameterVersionNotFound",
    "AWS.SimpleQueueService.NonExistentQueue",
    "QueueDoesNotExist",
}
NO_REGION = "NoRegionError"
NO_SDK = "NoSdk"
TIMED_OUT = "DeadlinePassed"
NO_ANSWER = "IncompleteAnswer"
NOT_VALID = "ParamValidationError"

_THROTTLED = {
    "Throttling",
    "ThrottlingException",
    "ThrottledException",
    "RequestThrottled",
    "RequestThrottledException",
    "RequestLimitExceeded",
    "LimitExceededException",
    "TooManyRequestsException",
    "ProvisionedThroughputExceededException",
    "SlowDown",
    "PriorRequestNotComplete",
    "429",
}
_BROKEN = {
    "InternalServiceError",
    "InternalServiceErrorException",
    "InternalServerError",
    "InternalFailure",
    "InternalError",
    "ServiceUnavailable",
    "ServiceUnavailableException",
    "RequestTimeout",
    "RequestTimeoutException",
    "500",
    "502",
    "503",
    "504",
}
_NO_CREDENTIALS = {"NoCredentialsError", "PartialCredentialsError"}
_NOT_RETRIEVED = {
    "CredentialRetrievalError",
    "SSOError",
    "SSOTokenLoadError",
    "TokenRetrievalError",
    "UnauthorizedSSOTokenError",
    "MetadataRetrievalError",
    "InvalidConfigError",
    "ConfigParseError",
}
_UNREACHABLE = {
    "EndpointConnectionError",
    "ConnectionError",
    "ConnectionClosedError",
    "ConnectTimeoutError",
    "ReadTimeoutError",
    "ProxyConnectionError",
    "SSLError",
    "HTTPClientError",
    "ResponseStreamingError",
    "IncompleteReadError",
}
_SAID: list[tuple[set[str], type[LookupFailed], str]] = [
    (
        KMS,
        LookupDenied,
        "refused: the key of KMS that encrypts it cannot be used; allow kms:Decrypt on it",
    ),
    (DENIED, LookupDenied, "refused by AWS; a policy must allow it"),
    (EXPIRED, LookupDenied, "refused: the credentials have expired; renew them"),
    (UNKNOWN_KEYS, LookupDenied, "refused: AWS does not know the credentials"),
    (_THROTTLED, ProviderUnavailable, "AWS takes no more calls for now; ask less often"),
    (_BROKEN, ProviderUnavailable, "AWS cannot answer for now; try again"),
    (
        _NO_CREDENTIALS,
        ProviderUnavailable,
        "no AWS credentials found; set aws.profile, aws.access.key, or what boto3 looks for",
    ),
    (_NOT_RETRIEVED, ProviderUnavailable, "no AWS credentials come; log in, or check the profile"),
    (_UNREACHABLE, ProviderUnavailable, "AWS cannot be reached; check network and endpoint"),
    ({NOT_VALID}, PathNotFound, "there can be none; check name, version, stage and label"),
    ({NO_ANSWER}, ProviderUnavailable, "the answer lacks what was asked for; try again"),
    ({TIMED_OUT}, ProviderUnavailable, "no answer within timeout.ms"),
    (
        {NO_REGION},
        ProviderUnavailable,
        "no AWS region is set; set aws.region or AWS_REGION, or write the full ARN",
    ),
    (
        {NO_SDK},
        ProviderUnavailable,
        "boto3 is not installed; pip install 'configproviders[aws]'",
    ),
    ({"ProfileNotFound"}, ProviderUnavailable, "there is no such profile; check aws.profile"),
]


class ServiceError(Exception):
    """A call that failed: the code AWS gave, or the name of the SDK's error, and no more.

    Of the text AWS gave it is only kept whether that speaks of KMS, and of deletion.
    """

    def __init__(self, code: str, operation: str = "", text: str = "") -> None:
        """Take the code and the operation; *text* is looked at and dropped."""
        code = printable(shorten(code))  # What says it may be a server of anybody's.
        super().__init__(f"{code} in {operation}" if operation else code)
        self.code = code
        self.operation = operation
        self.is_about_kms = "KMS" in text
        self.is_about_deletion = "delet" in text


def failure(error: ServiceError, what: str, *, absent: str = "") -> LookupFailed:
    """Return ours for *error* about *what*; *absent* says what to do if that does not exist."""
    kind, text = _meaning(error)
    said = f"{what}: {text} ({error})"
    if error.code in ABSENT and absent:
        said = f"{said}; {absent}"
    ours = kind(said)
    ours.__cause__ = error
    return ours


def _meaning(error: ServiceError) -> tuple[type[LookupFailed], str]:
    if error.code in ABSENT:
        return PathNotFound, "there is none"
    if error.code == "InvalidRequestException" and error.is_about_deletion:
        return PathNotFound, "it is scheduled for deletion; restore it or name another"
    code = "DecryptionFailure" if error.code in DENIED and error.is_about_kms else error.code
    for codes, kind, text in _SAID:
        if code in codes:
            if error.operation == "AssumeRole":
                return kind, f"the role of aws.sts.role.arn: {text}"
            return kind, text
    if not error.operation:
        return ProviderUnavailable, "the SDK of AWS fails"
    return LookupFailed, "AWS does not accept the call"
